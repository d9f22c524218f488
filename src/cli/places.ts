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
