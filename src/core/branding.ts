import * as z from 'zod/mini'
import type { Config } from '../config.ts'
import type { Branding as BrandingOnWire } from '../contract/branding.ts'
import type { Database, Queryable, Trx } from '../database/database.ts'
import { inTransaction } from '../database/transactions.ts'
import { accentOrNull, parseAccent } from '../domain/accent.ts'
import type { Actor } from '../domain/audit.ts'
import {
  LEGAL_PAGES,
  type LegalPage,
  logoPath,
  MAX_LEGAL_TEXT,
  MAX_START_TEXT,
  PRODUCT,
  parseMarkdown,
  parseSiteName,
  type ShownBranding,
} from '../domain/branding.ts'
import type { Clock } from '../domain/clock.ts'
import { sizeOfWebp } from '../domain/webp.ts'
import { recordAuditEntry } from './audit-log.ts'
import { dropMeta, metaOf, setMeta } from './meta.rows.ts'

/** Missing: stays. Null or empty: as if it was never set. */
export interface BrandingChange {
  readonly name?: string | null | undefined
  readonly accent?: string | null | undefined
  readonly startText?: string | null | undefined
  readonly legal?: Partial<Readonly<Record<LegalPage, string | null | undefined>>> | undefined
}

export type Branding = ReturnType<typeof createBranding>

/** Short and read often; logo and legal texts have keys of their own. */
const KEY = 'branding'
const LOGO_KEY = 'branding.logo'
const legalKey = (page: LegalPage) => `branding.legal.${page}`

/** The operator's own name, logo, colour and texts. Stored in the database; each node reads changes within seconds. */
export function createBranding(
  db: Database,
  clock: Clock,
  { siteName, accent }: Pick<Config, 'siteName' | 'accent'>,
) {
  let known: Kept = NOTHING
  /** The logo that was read last. */
  let logo: { readonly hash: string; readonly bytes: Uint8Array<ArrayBuffer> } | null = null

  async function change(
    actor: Actor,
    fields: readonly string[],
    write: (trx: Trx, before: Kept) => Promise<Kept>,
  ) {
    known = await inTransaction(db, async (trx) => {
      const after = await write(trx, await keptOf(trx))
      await setMeta(trx, KEY, JSON.stringify(after))
      await recordAuditEntry(trx, clock, actor, {
        act: 'branding.set',
        object: null,
        details: { changed: fields.join(', ') },
      })
      return after
    })
  }

  return {
    /** From memory, so that error pages can show it too. */
    shown: (): ShownBranding => ({
      ...known,
      name: known.name ?? siteName ?? PRODUCT,
      accent: (known.accent === null ? null : accentOrNull(known.accent)) ?? accent,
    }),

    /** As it was set, without what the settings say. */
    async get(): Promise<BrandingOnWire> {
      const { name, accent, startText, logo } = await keptOf(db)
      const [imprint, privacy, terms] = await Promise.all(
        LEGAL_PAGES.map((page) => metaOf(db, legalKey(page))),
      )
      return {
        name,
        accent,
        start_text: startText,
        legal: { imprint: imprint ?? null, privacy: privacy ?? null, terms: terms ?? null },
        logo_url: logo === null ? null : logoPath(logo),
      }
    },

    /** Throws Refusal INVALID_REQUEST and INVALID_NAME. */
    async set(actor: Actor, wanted: BrandingChange): Promise<void> {
      const { name, accent, startText } = wanted
      const given = {
        ...(name === undefined ? {} : { name: parseSiteName(name ?? '') }),
        ...(accent === undefined ? {} : { accent: accent ? parseAccent(accent) : null }),
        ...(startText === undefined
          ? {}
          : { startText: parseMarkdown(startText ?? '', 'start_text', MAX_START_TEXT) }),
      }
      const legal = LEGAL_PAGES.flatMap((page) => {
        const text = wanted.legal?.[page]
        if (text === undefined) return []
        return [{ page, text: parseMarkdown(text ?? '', `legal.${page}`, MAX_LEGAL_TEXT) }]
      })
      const fields = [...Object.keys(given), ...legal.map(({ page }) => page)]
      if (fields.length === 0) return
      await change(actor, fields, async (trx, before) => {
        const pages = new Set(before.legal)
        for (const { page, text } of legal) {
          if (text === null) {
            await dropMeta(trx, [legalKey(page)])
            pages.delete(page)
          } else {
            await setMeta(trx, legalKey(page), text)
            pages.add(page)
          }
        }
        return { ...before, ...given, legal: LEGAL_PAGES.filter((page) => pages.has(page)) }
      })
    },

    /** `webp`: made by this server, never what somebody sent. Null takes the logo away. */
    async setLogo(actor: Actor, webp: Uint8Array | null): Promise<void> {
      await change(actor, ['logo'], async (trx, before) => {
        if (webp === null) {
          await dropMeta(trx, [LOGO_KEY])
          return { ...before, logo: null }
        }
        await setMeta(trx, LOGO_KEY, Buffer.from(webp).toString('base64'))
        return { ...before, logo: { hash: hashOf(webp), ...sizeOfWebp(webp) } }
      })
    },

    /** WebP; null where the logo is another one by now. */
    async logo(hash: string): Promise<Uint8Array<ArrayBuffer> | null> {
      // This node may not have read a change yet, of which a page of another node tells.
      const current = known.logo?.hash === hash ? known.logo : (await keptOf(db)).logo
      if (current?.hash !== hash) return null
      if (logo?.hash === hash) return logo.bytes
      const text = await metaOf(db, LOGO_KEY)
      if (text === null) return null
      const bytes = new Uint8Array(Buffer.from(text, 'base64'))
      if (hashOf(bytes) !== hash) return null
      logo = { hash, bytes }
      return bytes
    },

    /** Markdown; null where there is none. */
    legal: (page: LegalPage): Promise<string | null> => metaOf(db, legalKey(page)),

    async refresh(): Promise<void> {
      known = await keptOf(db)
    },
  }
}

const keptBranding = z.object({
  name: z.nullable(z.string()),
  accent: z.nullable(z.string()),
  startText: z.nullable(z.string()),
  logo: z.nullable(z.object({ hash: z.string(), width: z.int(), height: z.int() })),
  legal: z.array(z.enum(LEGAL_PAGES)),
})
type Kept = z.infer<typeof keptBranding>

const NOTHING: Kept = { name: null, accent: null, startText: null, logo: null, legal: [] }

async function keptOf(db: Queryable): Promise<Kept> {
  const text = await metaOf(db, KEY)
  return text === null ? NOTHING : keptBranding.parse(JSON.parse(text))
}

function hashOf(bytes: Uint8Array): string {
  return new Bun.CryptoHasher('sha256').update(bytes).digest('hex').slice(0, 16)
}
