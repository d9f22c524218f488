import type { Scope } from '../domain/scopes.ts'

/** What a key needs for a route: a scope, or only to be valid. */
export type Need = Scope | 'any'
