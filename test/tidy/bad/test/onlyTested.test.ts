import '../src/base/onlyTested.ts'
