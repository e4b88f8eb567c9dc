"""Export of models: SQL, ONNX, PMML, JSON, Excel."""
