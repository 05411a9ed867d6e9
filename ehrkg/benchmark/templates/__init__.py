"""Verified relations at real visits, under the rules on answers and context, become templates."""
