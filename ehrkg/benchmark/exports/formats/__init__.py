"""The formats, a file each; see ``ehrkg.benchmark.exports``."""
