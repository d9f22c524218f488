/** How long each file took when it last ran here, so that the longest start first. A fresh clone knows nothing. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { z } from 'zod'

const PATH = join(import.meta.dir, '../../node_modules/.cache/holdfast/test-seconds.json')
const shape = z.record(z.string(), z.number())

/** Seconds by "pair file". */
export function knownSeconds(): Map<string, number> {
  try {
    return new Map(Object.entries(shape.parse(JSON.parse(readFileSync(PATH, 'utf8')))))
  } catch {
    return new Map()
  }
}

export function recordSeconds(measured: readonly (readonly [string, number])[]): void {
  const all = new Map([...knownSeconds(), ...measured])
  mkdirSync(dirname(PATH), { recursive: true })
  writeFileSync(PATH, JSON.stringify(Object.fromEntries([...all].sort()), null, 1))
}
