/**
 * When the person of a session has last shown who they are, and the half minute of the last code that an authenticator
 * app was taken by.
 */
const columns = (integer: string) => [
  `alter table sessions add column proved_at ${integer}`,
  `alter table two_factors add column last_step ${integer}`,
]

export const proofs = { sqlite: columns('integer'), postgres: columns('bigint') }
