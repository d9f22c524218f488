/**
 * Preloaded by `bun test` (bunfig.toml): hashes passwords at argon2id's minimum costs, because at
 * production's costs most test time would be hashing. The product is unaware of it, and child processes hash
 * at full costs.
 */

const hashAtFullCosts = Bun.password.hash

const hashAtLeastCosts: typeof Bun.password.hash = (password, algorithm) =>
  hashAtFullCosts(
    password,
    typeof algorithm === 'object' && algorithm.algorithm !== 'bcrypt'
      ? { ...algorithm, memoryCost: 8, timeCost: 1 }
      : algorithm,
  )

Bun.password.hash = hashAtLeastCosts

/** Restores production's costs in this process until it is disposed of. */
export function fullPasswordCosts(): Disposable {
  Bun.password.hash = hashAtFullCosts
  return {
    [Symbol.dispose]() {
      Bun.password.hash = hashAtLeastCosts
    },
  }
}
