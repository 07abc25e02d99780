"""How YAML text becomes models: documents that know their lines, quantities with units, and what every model shares."""
