// red file: unusedFile
