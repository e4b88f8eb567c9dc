"""Models out of Python: SQL, ONNX, PMML, JSON, Excel."""
