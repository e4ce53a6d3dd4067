"""The generated pages."""
