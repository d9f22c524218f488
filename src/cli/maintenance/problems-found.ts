/** Thrown by a command that was to look for faults, did so, found some and has printed them. */
export class ProblemsFound extends Error {
  override readonly name = 'ProblemsFound'
}
