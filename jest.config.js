export default {
  testEnvironment: 'node',
  // Tests wait for what happens, not for a time: this ends only one that hangs, also on a machine that is busy with
  // other things.
  testTimeout: 600_000,
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      {
        jsc: { experimental: { keepImportAttributes: true }, parser: { syntax: 'typescript' }, target: 'es2024' },
        module: { type: 'es6' },
      },
    ],
  },
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  // The bad samples hold tests that must never run.
  testPathIgnorePatterns: ['/node_modules/', '<rootDir>/test/tidy/bad/'],
  modulePathIgnorePatterns: ['<rootDir>/test/tidy/bad/', '<rootDir>/.cache/'],
}
