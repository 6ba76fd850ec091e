// red tree: moduleReadme src/modules/readmeless
