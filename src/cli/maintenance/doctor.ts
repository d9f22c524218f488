import { type Command, InvalidArgumentError } from 'commander'
import type { Environment } from '../../config/environment.ts'
import { loadConfig } from '../../config.ts'
import { LONGEST_SILENCE } from '../../contract/health.ts'
import { systemClock } from '../../domain/clock.ts'
import { systemRandom } from '../../domain/random.ts'
import type { Diagnosis, Finding } from '../../operations/doctor/doctor.ts'
import { ProblemsFound } from '../failure.ts'
import { count, printJson, printLines } from '../output.ts'

interface Options {
  readonly address?: URL
  readonly silence: number
  readonly json?: true
}

/** Seconds: longer than the default time-outs of nginx, Apache and HAProxy. */
const SILENCE = 70

const titled = ({ machine, database, services, address }: Diagnosis) =>
  [
    ['This machine', machine],
    ['The database', database],
    ['What the server works with', services],
    ['The public address', address],
  ] as const

const MARKS: Readonly<Record<Finding['level'], string>> = { ok: '✓', advice: '!', problem: '✗', unknown: '?' }

/** Exits with 3 when it finds a problem. */
export function doctorCommand(doctor: Command, environment: Environment): void {
  doctor
    .description('look whether this set-up is sound, from inside and through its public address')
    .option(
      '--address <url>',
      'look through this address, in place of the public address in the settings',
      readAddress,
    )
    .option(
      '--silence <seconds>',
      `how long a proxy has to wait for an answer, up to ${LONGEST_SILENCE}; 0 leaves that out`,
      readSilence,
      SILENCE,
    )
    .option('--json', 'print {"sound","findings"}')
    .action((options: Options) => run(environment, options))
}

/** Throws InvalidArgumentError. */
function readAddress(text: string): URL {
  const url = URL.parse(text)
  if (url !== null && /^https?:$/.test(url.protocol)) return url
  throw new InvalidArgumentError('Allowed is an address such as https://files.example.org.')
}

/** Throws InvalidArgumentError. */
function readSilence(text: string): number {
  const seconds = /^\d{1,3}$/.test(text) ? Number(text) : LONGEST_SILENCE + 1
  if (seconds <= LONGEST_SILENCE) return seconds
  throw new InvalidArgumentError(`Allowed is a whole number from 0 to ${LONGEST_SILENCE}.`)
}

async function run(environment: Environment, { address, silence, json }: Options): Promise<void> {
  const config = loadConfig(environment)
  const { examine, isSound } = await import('../../operations/doctor/doctor.ts')
  const { tryMailServer } = await import('../../app.ts')
  if (!json && silence > 0) printLines(`This takes about ${silence + 5} seconds.`)
  const diagnosis = await examine({
    config,
    clock: systemClock,
    random: systemRandom,
    address: address ?? null,
    silence,
    tryMail: tryMailServer,
  })
  const findings = Object.values(diagnosis).flat()
  const sound = isSound(diagnosis)
  if (json) printJson({ sound, findings })
  else printDiagnosis(diagnosis)
  if (!sound) throw new ProblemsFound()
}

function printDiagnosis(diagnosis: Diagnosis): void {
  for (const [title, findings] of titled(diagnosis)) {
    if (findings.length > 0) printLines('', title)
    for (const finding of findings) printFinding(finding)
  }
  const all = Object.values(diagnosis).flat()
  const counts = (level: Finding['level']) => all.filter((finding) => finding.level === level).length
  printLines(
    '',
    `${count(counts('problem'), 'problem')}, ${count(counts('advice'), 'piece')} of advice; fine: ${count(counts('ok'), 'check')}.`,
  )
}

function printFinding({ check, level, what, why, changes }: Finding): void {
  printLines(`  ${MARKS[level]} ${check}: ${what}`)
  if (why !== '') printLines(`      ${why}`)
  for (const { where, line } of changes) printLines(`      ${where}: ${line}`)
}
