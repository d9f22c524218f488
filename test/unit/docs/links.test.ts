/** Every link from one page of the documentation to another file of the repository, headings included. */
import { expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'

const REPOSITORY = join(import.meta.dir, '../../..')
const PAGES = ['*.md', 'docs/**/*.md', 'bench/**/*.md', 'test/**/*.md']
  .flatMap((pattern) => [...new Bun.Glob(pattern).scanSync({ cwd: REPOSITORY })])
  .sort()

interface Link {
  readonly page: string
  readonly target: string
}

test('links between pages lead to files and headings that are there', () => {
  const links = PAGES.flatMap(linksOf)
  expect(links.length).toBeGreaterThan(100)
  expect(links.filter((link) => !isWhole(link))).toEqual([])
})

function linksOf(page: string): Link[] {
  const text = withoutCode(readFileSync(join(REPOSITORY, page), 'utf8')).replaceAll(/`[^`\n]*`/g, '')
  const targets = [...text.matchAll(/\]\(([^)\s]+)\)|(?:src|srcset)="([^"]+)"/g)].map(
    ([, link, picture]) => link ?? picture ?? '',
  )
  return targets.filter((target) => !/^[a-z]+:/.test(target)).map((target) => ({ page, target }))
}

function isWhole({ page, target }: Link): boolean {
  const [path = '', heading] = target.split('#')
  const file = path === '' ? page : normalize(join(dirname(page), path))
  if (!existsSync(join(REPOSITORY, file))) return false
  return heading === undefined || headingsOf(file).includes(heading)
}

/** The anchors of a page's headings, as GitHub makes them. */
function headingsOf(page: string): string[] {
  const text = withoutCode(readFileSync(join(REPOSITORY, page), 'utf8'))
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(/\s/g, '-'),
  )
}

function withoutCode(text: string): string {
  return text.replaceAll(/^( *)```[\s\S]*?^\1```$/gm, '')
}
