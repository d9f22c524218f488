import { clientVariables, settings } from '../settings.ts'
import type { ConfigProblem } from './config-problems.ts'
import { type Environment, withoutPassword } from './environment.ts'
import { fileVariables } from './secret-files.ts'

const SECRET_NAME = /KEY|SECRET|PASS|TOKEN/
/** Largest edit distance of a suggestion. */
const NEAR = 4

export function unknownVariables(environment: Environment): ConfigProblem[] {
  const known = [
    ...Object.values(settings).map(({ variable }) => variable),
    ...fileVariables(),
    ...Object.values(clientVariables),
  ]
  return Object.keys(environment)
    .filter((variable) => variable.startsWith('HOLDFAST_') && !known.includes(variable))
    .map((variable) => ({
      variable,
      // A misspelt name hides whether its value is a secret, so likely names are masked.
      value: SECRET_NAME.test(variable) ? '…' : withoutPassword(environment[variable] ?? ''),
      reason: `there is no such variable; ${suggestion(variable, known)}`,
    }))
}

function suggestion(variable: string, known: readonly string[]): string {
  const [nearest] = known
    .map((name) => ({ name, distance: editDistance(variable, name) }))
    .sort((a, b) => a.distance - b.distance)
  return nearest !== undefined && nearest.distance <= NEAR
    ? `did you mean ${nearest.name}?`
    : '"holdfast config" lists them all'
}

function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, column) => column)
  for (const [line, letter] of [...from].entries()) {
    const next = [line + 1]
    for (const [column, other] of [...to].entries()) {
      const replaced = (row[column] ?? 0) + (letter === other ? 0 : 1)
      next.push(Math.min(replaced, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1))
    }
    row = next
  }
  return row[to.length] ?? 0
}
