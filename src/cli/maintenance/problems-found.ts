/** A check succeeded, and has printed the faults that it found. */
export class ProblemsFound extends Error {
  override readonly name = 'ProblemsFound'
}
