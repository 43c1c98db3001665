"""What stages read and write: declared, or read from signatures, templates and source."""
