/** One long test of docs/reliability.md. */
export interface Campaign {
  /** The target of make that runs it. */
  readonly name: string
  /** The heading of its section. */
  readonly title: string
  /** The flags of the form that the page shows. */
  readonly long: string
  /** The flags of a form that only shows that it runs. */
  readonly quick: string
  /** The test in which a fault that was put in by hand is found. */
  readonly caughtBy: string
}

/** Every campaign, in the order of the page. */
export const CAMPAIGNS: readonly Campaign[] = [
  {
    name: 'model',
    title: 'A second reading of the rules',
    long: '--count 100000 --seed 1',
    quick: '--count 2000 --seed 1',
    caughtBy: 'test/model/model.test.ts',
  },
  {
    name: 'delegation',
    title: 'Stakes of many',
    long: '--count 100000 --seed 1',
    quick: '--count 1000 --seed 1',
    caughtBy: 'test/modules/delegation/campaign.test.ts',
  },
  {
    name: 'requirements',
    title: 'What CometBFT requires',
    long: '--count 100000 --seed 1',
    quick: '--count 1000 --seed 1',
    caughtBy: 'test/chain/requirements.test.ts',
  },
  {
    name: 'replicas',
    title: 'Other machines',
    long: '--count 100000 --seed 1',
    quick: '--count 500 --seed 1',
    caughtBy: 'test/replicas/replicas.test.ts',
  },
  {
    name: 'fuzz',
    title: 'Malformed and hostile input',
    long: '--count 1000000 --seed 1',
    quick: '--count 5000 --seed 1',
    caughtBy: 'test/fuzz/fuzz.test.ts',
  },
  {
    name: 'mutants',
    title: 'Faults in the code',
    long: '--count 200 --seed 1',
    quick: '--only tx --count 3 --seed 1',
    caughtBy: 'test/mutation/mutation.test.ts',
  },
  {
    name: 'faults',
    title: 'Kills, cut logs, failing disks and wrong clocks',
    long: '--count 50 --seed 1',
    quick: '--only kills,cuts,clock,fullDisk --count 1 --seed 1',
    caughtBy: 'test/faults/faults.test.ts',
  },
  {
    name: 'chaos',
    title: 'Kills at any moment',
    long: '--count 1000 --seed 1',
    quick: '--count 5 --seed 1',
    caughtBy: 'test/e2e/kill.test.ts',
  },
  {
    name: 'churn',
    title: 'Validators that come and go',
    long: '--count 2000 --seed 1',
    quick: '--count 60 --seed 1',
    caughtBy: 'test/e2e/churn.test.ts',
  },
  {
    name: 'manifests',
    title: 'Networks of four',
    long: '--count 50 --seed 1',
    quick: '--count 1 --seed 1',
    caughtBy: 'test/e2e/manifests.test.ts',
  },
  {
    name: 'byzantine',
    title: 'Participants that lie',
    long: '--count 5 --seed 1',
    quick: '--only double,proposer,reactors --count 1 --seed 1',
    caughtBy: 'test/e2e/byzantine.test.ts',
  },
  {
    name: 'statesync',
    title: 'Joining by state sync',
    long: '--accounts 100000',
    quick: '--accounts 5000 --interval 20',
    caughtBy: 'test/e2e/statesyncJudge.test.ts',
  },
  {
    name: 'outage',
    title: 'A node that is down',
    long: '--count 1000 --seed 1',
    quick: '--count 20 --seed 1',
    caughtBy: 'test/outage/judge.test.ts',
  },
  {
    name: 'soak',
    title: 'In the long run',
    long: '--minutes 120',
    quick: '--minutes 10',
    caughtBy: 'test/e2e/soak.test.ts',
  },
  {
    name: 'matrix',
    title: 'Every line of CometBFT',
    long: '',
    quick: '0.38.25',
    caughtBy: 'test/tidy/totals.test.ts',
  },
  {
    name: 'supply-chain',
    title: 'What svcd is made of',
    long: '',
    quick: '',
    caughtBy: 'test/tidy/supplyChain.test.ts',
  },
  {
    name: 'stress',
    title: 'Strangers',
    long: '',
    quick: '--short',
    caughtBy: 'test/e2e/stress.test.ts',
  },
]

/** What a person types to run a campaign with these flags. */
export const commandOf = (name: string, flags: string): string =>
  flags === '' ? `make ${name}` : `make ${name} ARGS="${flags}"`
