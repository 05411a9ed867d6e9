"""What stands in the report, a module a section: tables in, plain values for a template out."""
