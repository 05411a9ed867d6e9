"""How far people who read questions and relations agree, with each other and with the key."""
