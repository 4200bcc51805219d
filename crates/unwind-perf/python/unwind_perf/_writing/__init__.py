"""Files that the program writes: recordings, bundles and pages."""
