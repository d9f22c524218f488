import { withoutPassword } from '../config/environment.ts'
import type { Config } from '../config.ts'

/** Without the password. */
export function databasePlace(config: Config): string {
  return config.databaseUrl === null ? config.dataDir : withoutPassword(config.databaseUrl)
}

export function bytesPlace(config: Config): string {
  return config.s3 === null ? config.dataDir : `${config.s3.endpoint}, bucket ${config.s3.bucket}`
}

/** Absolute. Without a public address, the address at which the server listens. */
export function linkAddress({ publicUrl, host, port }: Config, { path }: { readonly path: string }): string {
  const isEverywhere = ['0.0.0.0', '::', '127.0.0.1', '::1'].includes(host)
  return `${publicUrl ?? `http://${isEverywhere ? 'localhost' : host}:${port}`}${path}`
}
