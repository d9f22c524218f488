import type { Manifest, ScriptedPage } from '../manifest.ts'

/** Budget in gzipped bytes for what a page loads before its first use. */
interface Budget {
  readonly script: number
  readonly style: number
}

const KB = 1000

const budgets: Readonly<Record<ScriptedPage, Budget>> = {
  start: { script: 45 * KB, style: 20 * KB },
  file: { script: 12 * KB, style: 20 * KB },
  folder: { script: 10 * KB, style: 20 * KB },
  receipt: { script: 10 * KB, style: 20 * KB },
  reference: { script: 10 * KB, style: 20 * KB },
  'sign-in': { script: 12 * KB, style: 20 * KB },
  files: { script: 170 * KB, style: 20 * KB },
  settings: { script: 145 * KB, style: 20 * KB },
  admin: { script: 145 * KB, style: 20 * KB },
}

export interface BundleWeight {
  readonly page: ScriptedPage
  readonly kind: keyof Budget
  /** Gzipped bytes. */
  readonly weight: number
  readonly budget: number
}

/**
 * Weight of what each page loads before its first use, with its budget. `sizeOf` returns the gzipped size of
 * an asset.
 */
export function weigh({ assets }: Manifest, sizeOf: (address: string) => number): BundleWeight[] {
  const pages = Object.keys(budgets) as ScriptedPage[]
  const together = (addresses: readonly string[]) =>
    addresses.reduce((sum, address) => sum + sizeOf(address), 0)
  return pages.flatMap((page) => {
    const { script, preloads, style } = assets.pages[page]
    return [
      {
        page,
        kind: 'script',
        weight: together([assets.script, script, ...preloads]),
        budget: budgets[page].script,
      },
      { page, kind: 'style', weight: together([assets.style, style]), budget: budgets[page].style },
    ]
  })
}

export function isTooHeavy({ weight, budget }: BundleWeight): boolean {
  return weight > budget
}

export function weightTable(weights: readonly BundleWeight[]): string {
  const lines = weights.map((each) =>
    [
      each.page.padEnd(10),
      each.kind.padEnd(8),
      kilobytes(each.weight).padStart(9),
      `of ${kilobytes(each.budget)}`.padStart(13),
      isTooHeavy(each) ? '  TOO HEAVY' : '',
    ].join(''),
  )
  return ['Loaded before first use, gzipped:', ...lines].join('\n')
}

function kilobytes(bytes: number): string {
  return `${(bytes / KB).toFixed(1)} KB`
}
