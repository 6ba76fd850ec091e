export type { CometNode, NodeOptions } from './startNode.ts'
export { startNode } from './startNode.ts'
