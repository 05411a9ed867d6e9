"""What every stage stands on: errors, ledgers, hashing, table storage, shipped resources."""
