/** Commands for backups as people run them, and what they print. */
import { expect } from 'bun:test'
import * as z from 'zod'
import type { Config } from '../../../src/config.ts'
import { holdfast } from '../cli/command.ts'
import { holdfastHere } from '../cli/command-here.ts'

/** The settings of an installation, as a command finds it by. */
export function environmentOf({ dataDir, databaseUrl, s3 }: Config): Record<string, string> {
  return {
    HOLDFAST_DATA_DIR: dataDir,
    ...(databaseUrl === null ? {} : { HOLDFAST_DATABASE_URL: databaseUrl }),
    ...(s3 === null
      ? {}
      : {
          HOLDFAST_S3_ENDPOINT: s3.endpoint,
          HOLDFAST_S3_BUCKET: s3.bucket,
          HOLDFAST_S3_REGION: s3.region,
          HOLDFAST_S3_ACCESS_KEY_ID: s3.accessKeyId,
          HOLDFAST_S3_SECRET_ACCESS_KEY: s3.secretAccessKey,
          HOLDFAST_S3_PATH_STYLE: String(s3.pathStyle),
        }),
  }
}

export const made = z.object({
  taken_at: z.string(),
  files: z.number(),
  contents: z.number(),
  bytes: z.number(),
  copied_contents: z.number(),
  copied_bytes: z.number(),
  dropped_points: z.number(),
  lost_points: z.array(z.string()),
  series: z.string(),
  number: z.number(),
  damaged: z.array(z.object({ slug: z.string(), reason: z.string(), owner: z.string() })),
})
export const restored = made
  .pick({
    taken_at: true,
    files: true,
    contents: true,
    bytes: true,
    damaged: true,
    series: true,
    number: true,
  })
  .extend({ authenticated: z.boolean() })
export const drilled = z.object({
  good: z.boolean(),
  read_files: z.number(),
  wrong: z.array(z.object({ slug: z.string(), reason: z.string() })),
  damaged: restored.shape.damaged,
})
export const checked = z.object({
  checked_files: z.number(),
  damaged: z.array(z.unknown()),
  orphans: z.array(z.unknown()),
  sums: z.array(z.unknown()),
})

export type Settings = Readonly<Record<string, string>>

/**
 * `asChild`: beside requests to a server of this process. Two connections of one thread to SQLite wait for each other in
 * vain.
 */
export async function runIn(
  folder: string,
  words: readonly string[],
  settings: Settings,
  { asChild = false } = {},
) {
  const { code, output, errors } = await (asChild ? holdfast : holdfastHere)(folder, words, settings)
  return { code, output, errors, json: <T>(shape: z.ZodType<T>) => shape.parse(JSON.parse(output)) }
}

/** Expects success. */
export async function doneIn<T>(
  folder: string,
  words: readonly string[],
  shape: z.ZodType<T>,
  settings: Settings,
  way?: { readonly asChild: boolean },
): Promise<T> {
  const { code, errors, json } = await runIn(folder, [...words, '--json'], settings, way)
  expect({ code, errors: code === 0 ? '' : errors }).toEqual({ code: 0, errors: '' })
  return json(shape)
}

/** The bytes of a file, as its link gives them. */
export async function isThere(url: string, slug: string, key?: string): Promise<string> {
  const headers: Record<string, string> = { 'Content-Type': 'application/json' }
  if (key !== undefined) headers.Authorization = `Bearer ${key}`
  const signed = await fetch(`${url}/v2/api/public/download`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ file_slug: slug }),
  })
  const { file, token } = z.object({ file: z.string(), token: z.string() }).parse(await signed.json())
  return (await fetch(`${url}/v2/${file}?token=${token}`)).text()
}
