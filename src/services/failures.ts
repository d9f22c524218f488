/** What the edge needs to know of failures of the parts below, without knowing the parts. */
export { isDatabaseFailure } from '../database/differences.ts'
