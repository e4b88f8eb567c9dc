"""Support vector machines on few rows in memory, solved in one compiled loop."""
