import type { NodePlace } from '../../src/core/nodes/nodes.ts'

/** For nodes of tests, which run nowhere. */
export const NOWHERE: NodePlace = { host: 'nowhere', address: '127.0.0.1:1', version: '0.0.0' }
