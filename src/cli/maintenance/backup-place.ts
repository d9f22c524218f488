import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { type Command, InvalidArgumentError } from 'commander'
import type { Config } from '../../config.ts'
import type { StorePlace, TargetOptions } from '../../contents/backup.ts'
import { systemClock } from '../../domain/clock.ts'
import { Refusal } from '../../domain/errors.ts'
import { systemRandom } from '../../domain/random.ts'
import { settings } from '../../settings.ts'
import { printProblem } from '../output.ts'
import { asSetting, readS3Address, type S3Address } from '../relocation-target.ts'

export type NamedPlace = { readonly folder: string } | S3Address

export interface StoreOptions {
  readonly s3Region?: string
  readonly s3PathStyle?: true
}

export const REGION = [
  '--s3-region <region>',
  'the region of that store',
  asSetting(settings.s3Region),
] as const
export const PATH_STYLE = ['--s3-path-style', 'put the bucket in the path instead of the host name'] as const

/** A folder, or `https://host/bucket`. Throws InvalidArgumentError. */
export function readPlace(text: string): NamedPlace {
  if (!/^https?:/.test(text)) return { folder: resolve(text) }
  const address = readS3Address(text)
  if (address !== 'none') return address
  throw new InvalidArgumentError('Allowed is a folder, or the address of a service with a bucket.')
}

export const TARGET = [
  '[target]',
  'a folder of its own, or https://host/bucket of an S3-compatible store; left out, that of HOLDFAST_BACKUP',
  readPlace,
] as const

export async function openingOf(
  command: Command,
  named: NamedPlace | undefined,
  options: StoreOptions,
  { config, signal }: { readonly config: Config; readonly signal: AbortSignal },
): Promise<TargetOptions> {
  return { ...(await openingAt(targetOf(command, named, options, config), config)), signal }
}

export async function openingAt(place: StorePlace, config: Config): Promise<Omit<TargetOptions, 'signal'>> {
  return {
    clock: systemClock,
    random: systemRandom,
    place,
    passphrase: await passphraseOf(config),
    onWait: () => printProblem('Another run works on this backup, or was killed just now: waiting.'),
    onFault: ({ copy, reason }) =>
      printProblem(
        `Of the two copies of the catalog, "${copy}" ${reason}; the other one counts, and "${copy}" is made anew.`,
      ),
  }
}

/** The named place, or that of scheduled backups. Exits with a usage error without either. */
function targetOf(
  command: Command,
  named: NamedPlace | undefined,
  options: StoreOptions,
  config: Config,
): StorePlace {
  if (named !== undefined) return placeOf(named, options, config)
  if (config.backup.own !== null) return config.backup.own.place
  return command.error(`error: name the backup, or set ${settings.backup.variable}`)
}

/** Throws Refusal INVALID_REQUEST where a store has no key. */
export function placeOf(
  named: NamedPlace,
  { s3Region, s3PathStyle }: StoreOptions,
  config: Config,
): StorePlace {
  if ('folder' in named) return { kind: 'folder', path: named.folder }
  const key = config.backup.s3Key ?? config.s3
  if (key === null) {
    throw new Refusal(
      'INVALID_REQUEST',
      `set ${settings.backupS3AccessKeyId.variable} and ${settings.backupS3SecretAccessKey.variable} for that store`,
    )
  }
  const { accessKeyId, secretAccessKey } = key
  return {
    kind: 's3',
    s3: {
      ...named,
      accessKeyId,
      secretAccessKey,
      region: s3Region ?? config.s3?.region ?? settings.s3Region.default,
      pathStyle: s3PathStyle ?? config.s3?.pathStyle ?? false,
    },
  }
}

const SHORTEST = 12

/** Null: not encrypted. Throws Refusal PRECONDITION_FAILED for an unreadable file or a short passphrase. */
async function passphraseOf({ backup }: Config): Promise<string | null> {
  const path = backup.passphraseFile
  if (path === null) return null
  const text = await readFile(path, 'utf8').catch((error: Error) => {
    throw new Refusal('PRECONDITION_FAILED', `the passphrase in ${path} cannot be read: ${error.message}`)
  })
  if (text.trim().length >= SHORTEST) return text.trim()
  throw new Refusal(
    'PRECONDITION_FAILED',
    `${path} has to hold a passphrase of at least ${SHORTEST} characters`,
  )
}
