/** When a file goes over several connections, and in which parts. */

const MIB = 1024 * 1024

/** Of a smaller file the beginning and the end of each part would cost what is gained. */
const SMALLEST = 64 * MIB

/** Of all files of a command together: what browsers open to one server at most is six. */
export const CONNECTIONS = 4

/** Two for each connection, so that a slow one does not keep the others waiting for long. */
const PARTS = 2 * CONNECTIONS

/** Milliseconds of a round trip from which on one connection may be slower than the line. */
const LONG = 30

/** Questions of which the quickest answer counts: a busy server answers one late, but hardly each. */
export const QUESTIONS = 3

export function mayGoInParts(size: number, connections: number): boolean {
  return size >= SMALLEST && connections > 1
}

export function isLongLine(roundTrip: number): boolean {
  return roundTrip > LONG
}

/** Connections of each file when so many are sent at once. */
export function connectionsEach(files: number): number {
  return Math.max(1, Math.floor(CONNECTIONS / Math.max(1, files)))
}

export interface PartRange {
  readonly from: number
  readonly to: number
}

/** The ranges of so many parts, which differ in length by a byte at most. */
export function partRanges(size: number, parts: number = PARTS): PartRange[] {
  const border = (number: number) => Math.floor((size / parts) * number)
  return Array.from({ length: parts }, (_, number) => ({
    from: border(number),
    to: number === parts - 1 ? size : border(number + 1),
  }))
}
