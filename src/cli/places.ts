import type { Config } from '../config.ts'
import { withoutPassword } from '../config.ts'

/** Where the accounts, folders and rows of files are, for people. */
export function databasePlace(config: Config): string {
  return config.databaseUrl === null ? config.dataDir : withoutPassword(config.databaseUrl)
}

/** Where the bytes of files are, for people. */
export function bytesPlace(config: Config): string {
  return config.s3 === null ? config.dataDir : `${config.s3.endpoint}, bucket ${config.s3.bucket}`
}

/** The whole address of a link. Without a public address in the settings it is where a server here listens. */
export function linkAddress({ publicUrl, host, port }: Config, { path }: { readonly path: string }): string {
  const isEverywhere = ['0.0.0.0', '::', '127.0.0.1', '::1'].includes(host)
  return `${publicUrl ?? `http://${isEverywhere ? 'localhost' : host}:${port}`}${path}`
}
