"""Support vector machines with a proved duality gap."""
