import { InvalidArgumentError } from 'commander'
import { type Environment, fileVariable, shown, variableInUse, written } from '../config/environment.ts'
import { readBucketAddress, type Setting, settings } from '../settings.ts'

export interface TargetOptions {
  /** A PostgreSQL URL, or `sqlite`. */
  readonly toDatabase?: string
  readonly toS3?: S3Address | 'none'
  readonly toS3Region?: string
  readonly toS3PathStyle?: true
  readonly toDataDir?: string
}

export interface S3Address {
  readonly endpoint: string
  readonly bucket: string
}

export function targetEnvironment(environment: Environment, options: TargetOptions): Environment {
  const { toDatabase, toS3, toS3Region, toS3PathStyle, toDataDir } = options
  const to: Environment = { ...environment }
  if (toDatabase !== undefined) {
    to[settings.databaseUrl.variable] = toDatabase === 'sqlite' ? undefined : toDatabase
    to[fileVariable(settings.databaseUrl) ?? ''] = undefined
  }
  if (toS3 !== undefined) {
    const address = toS3 === 'none' ? undefined : toS3
    to[settings.s3Endpoint.variable] = address?.endpoint
    to[settings.s3Bucket.variable] = address?.bucket
    if (toS3 === 'none') to[settings.s3Redirect.variable] = undefined
  }
  if (toS3Region !== undefined) to[settings.s3Region.variable] = toS3Region
  if (toS3PathStyle) to[settings.s3PathStyle.variable] = 'true'
  if (toDataDir !== undefined) to[settings.dataDir.variable] = toDataDir
  return to
}

/** Renames settings in a message to the options that gave them. The key stays a setting. */
export function inOptions(message: string): string {
  return message
    .replaceAll(settings.databaseUrl.variable, '--to-database')
    .replaceAll(settings.s3Endpoint.variable, '--to-s3')
    .replaceAll(settings.s3Bucket.variable, '--to-s3')
    .replaceAll('--to-s3 and --to-s3', '--to-s3')
    .replaceAll(`${settings.s3PathStyle.variable}=true`, '--to-s3-path-style')
    .replaceAll(settings.s3PathStyle.variable, '--to-s3-path-style')
    .replaceAll(settings.s3Region.variable, '--to-s3-region')
    .replaceAll(settings.dataDir.variable, '--to-data-dir')
}

/** Without secrets. */
export function changedSettings(from: Environment, to: Environment) {
  const every: readonly Setting<unknown>[] = Object.values(settings)
  const changed = every.filter((setting) => written(setting, from) !== written(setting, to))
  return {
    put: changed.flatMap((setting) => {
      const text = written(setting, to)
      return text === undefined ? [] : [`${setting.variable}=${shown(setting, text)}`]
    }),
    takeOut: changed
      .filter(
        (setting) =>
          variableInUse(setting, from) !== variableInUse(setting, to) || written(setting, to) === undefined,
      )
      .map((setting) => variableInUse(setting, from)),
  }
}

/** Parser for an option with the values of a setting. It throws InvalidArgumentError. */
export function asSetting(setting: Setting<unknown>, ...words: readonly string[]) {
  return (text: string): string => {
    if (words.includes(text)) return text
    if (text.trim() !== '' && setting.read(text.trim()) !== undefined) return text.trim()
    throw new InvalidArgumentError(`Allowed is ${[setting.allowed, ...words].join(', or ')}.`)
  }
}

export function readS3Address(text: string): S3Address | 'none' {
  if (text === 'none') return text
  const address = readBucketAddress(text)
  if (address !== undefined) return address
  throw new InvalidArgumentError(
    `Allowed is the address of a service with a bucket, such as https://s3.example.org/holdfast, or none. A bucket's name has 3 characters at least. The key comes from ${settings.s3AccessKeyId.variable} and ${settings.s3SecretAccessKey.variable}.`,
  )
}
