/** The ports at which a gateway and its CometBFT listen, unless they are told others. */
export const PORTS = { gateway: 8545, p2p: 26656, rpc: 26657, metrics: 26660 } as const
