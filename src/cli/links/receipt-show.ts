import type {
  ReceiptContributionFields,
  ReceiptFields,
  ReceiptLinkFields,
  ReceiptUploadFields,
} from '../../client/answers.ts'
import { formatSize } from '../../domain/sizes.ts'
import { printPairs } from '../output.ts'

type Pairs = readonly (readonly [string, string])[]

export function printReceipt(shown: ReceiptFields, address: string): void {
  printPairs(pairsOf(shown, ['Receipt', address]))
}

type Page = readonly ['Receipt', string]

function pairsOf(shown: ReceiptFields, page: Page): Pairs {
  switch (shown.kind) {
    case 'upload':
      return pairsOfUpload(shown, page)
    case 'contribution':
      return pairsOfSent(shown, page)
    case 'link':
      return pairsOfLink(shown, page)
  }
}

function pairsOfUpload(upload: ReceiptUploadFields, page: Page): Pairs {
  const { status, name, url, created_at, expires_at, views, downloads } = upload
  return [
    ['File', name],
    ['Link', url],
    page,
    ...arrivedPairs(upload),
    ['Since', created_at],
    [
      'Expires',
      expires_at === null
        ? 'never'
        : `${expires_at}, unless ${status === 'completed' ? 'somebody looks at it' : 'the upload goes on'}`,
    ],
    ['Views', String(views)],
    ['Downloads', String(downloads)],
  ]
}

function pairsOfSent(sent: ReceiptContributionFields, page: Page): Pairs {
  const { name, owner, link, sender, address, reference, can_withdraw, created_at } = sent
  const said = [
    ['Sender', sender],
    ['Address', address],
    ['Reference', reference],
  ] as const
  return [
    ['File', name],
    ['To', owner],
    ['Link', link === null ? 'revoked' : link.url],
    page,
    ...arrivedPairs(sent),
    ...said.flatMap(([label, answer]) => (answer === null ? [] : [[label, answer] as const])),
    ['Since', created_at],
    ['Withdrawable', can_withdraw ? 'yes' : 'no, the link is over or the file was put elsewhere'],
  ]
}

function pairsOfLink(link: ReceiptLinkFields, page: Page): Pairs {
  const { title, url, state, files, has_password, ends_at, downloads, max_downloads, created_at } = link
  return [
    ['Link', url],
    ['Title', title],
    page,
    ['State', state === 'used_up' ? 'used up' : state],
    ['Files', String(files)],
    ['Password', has_password ? 'yes' : 'no'],
    ['Since', created_at],
    ['Ends', ends_at ?? 'never'],
    ['Downloads', max_downloads === null ? String(downloads) : `${downloads} of ${max_downloads}`],
  ]
}

function arrivedPairs({
  status,
  received,
  size,
  sha256,
}: Pick<ReceiptUploadFields, 'status' | 'received' | 'size' | 'sha256'>): Pairs {
  const whole = size === null ? '' : ` of ${formatSize(size)}`
  return [
    ['Size', status === 'completed' ? formatSize(received) : `${formatSize(received)}${whole} has arrived`],
    ...(sha256 === null ? [] : [['SHA-256', sha256] as const]),
  ]
}
