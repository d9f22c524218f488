/** Time of a session's last re-authentication, and the TOTP time step of the last accepted code. */
const columns = (integer: string) => [
  `alter table sessions add column proved_at ${integer}`,
  `alter table two_factors add column last_step ${integer}`,
]

export const proofs = { sqlite: columns('integer'), postgres: columns('bigint') }
