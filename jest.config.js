const swc = (parser) => [
  '@swc/jest',
  {
    jsc: {
      experimental: { keepImportAttributes: true },
      parser,
      transform: { react: { runtime: 'automatic', importSource: 'preact' } },
      target: 'es2024',
    },
    module: { type: 'es6' },
  },
]

export default {
  testEnvironment: 'node',
  // Tests wait for what happens, not for a time: this ends only one that hangs, also on a machine that is busy with
  // other things.
  testTimeout: 600_000,
  extensionsToTreatAsEsm: ['.ts', '.tsx'],
  transform: {
    '^.+\\.ts$': swc({ syntax: 'typescript' }),
    // Of the page: what it says of kinds of proposal stands beside what it shows of them.
    '^.+\\.tsx$': swc({ syntax: 'typescript', tsx: true }),
  },
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  // The bad samples hold tests that must never run.
  testPathIgnorePatterns: ['/node_modules/', '<rootDir>/test/tidy/bad/'],
  modulePathIgnorePatterns: ['<rootDir>/test/tidy/bad/', '<rootDir>/.cache/'],
}
