import type { ErrorCode } from '../../domain/errors.ts'

const FILE = 'Kx3RmP7vTq2a'
const FOLDER = 'k7w2m9x4q1z8v3b6'
const RECEIPT =
  'IjhkNWYzYzFlLTJhNDctNGI4Yy05ZjYwLTFlN2QzYjVhOWMyNCI.q1Jw4nVb7kTzX0cRmP9sLdYhE3uGfA6oKiB8vNtW2Qe'
const UUID = '8d5f3c1e-2a47-4b8c-9f60-1e7d3b5a9c24'

/** A field name has one meaning in the whole API. */
const EXAMPLES: Readonly<Record<string, { readonly string?: string; readonly integer?: number }>> = {
  'Holdfast-Transfer': { string: 'NDI.b1h8c2VjcmV0' },
  'Idempotency-Key': { string: '5f0c7b1a-holiday-upload' },
  'Upload-Checksum': { string: 'sha256 LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=' },
  'Upload-Concat': { string: 'partial' },
  'Holdfast-Before': { string: '65536' },
  'Upload-Expires': { string: 'Sun, 01 Feb 2026 12:00:00 GMT' },
  'Upload-Length': { string: '1048576' },
  'Upload-Metadata': { string: 'filename aG9saWRheS5qcGc=' },
  'Upload-Offset': { string: '524288' },
  'Holdfast-Receipt': { string: RECEIPT },
  'Holdfast-Slug': { string: FILE },
  'Holdfast-Url': { string: `https://files.example.org/d/${FILE}` },
  'Last-Event-ID': { string: '41' },
  Location: { string: '/api/v1/uploads/Zt5oYx0gWmN4rQ1sLk8vBa' },
  'Tus-Checksum-Algorithm': { string: 'sha1,sha256,crc32c' },
  'Tus-Extension': { string: 'creation,expiration,checksum' },
  'Tus-Max-Size': { string: '10737418240' },
  'Tus-Version': { string: '1.0.0' },
  'X-Folder-ID': { string: FOLDER },
  account: { integer: 42 },
  accounts: { integer: 12 },
  address: { string: 'ada@example.org' },
  api_key: { string: 'hf_zG5oYx0gWmN4rQ1sLk8vBaT7uP2dXcE9hJfKq3wMyRs' },
  api_requests_today: { integer: 128 },
  authenticatorData: { string: 'SZYN5YgOjGh0NBcPZHZgW4_krrmihjLHmVzzuoMdl2MFAAAAAQ' },
  binned: { integer: 1 },
  bytes_in: { integer: 734_003_200 },
  bytes_out: { integer: 5_368_709_120 },
  bytes: { integer: 734_003_200 },
  clientDataJSON: { string: 'eyJ0eXBlIjoid2ViYXV0aG4uZ2V0In0' },
  code: { string: '492039' },
  day: { string: '2026-01-31' },
  days: { integer: 30 },
  deleted: { integer: 1 },
  delivery: { string: '42' },
  disk_free: { integer: 107_374_182_400 },
  download: { string: '1' },
  downloads: { integer: 3 },
  ended: { integer: 2 },
  entries: { integer: 7 },
  entry: { integer: 7 },
  error: { string: 'FOLDER_NOT_FOUND' },
  expires_at: { string: '2037-01-31T12:00:00Z' },
  expires_in: { integer: 1800 },
  failed: { integer: 0 },
  failed_deletes: { integer: 0 },
  failures: { integer: 0 },
  file: { string: FILE, integer: 42 },
  file_count: { integer: 12 },
  file_id: { integer: 42 },
  file_slug: { string: FILE },
  files: { string: FILE, integer: 12 },
  files_count: { integer: 64 },
  files_deleted: { integer: 1 },
  folder: { string: FOLDER },
  folder_id: { string: FOLDER },
  folder_name: { string: 'Holidays' },
  folders: { string: FOLDER, integer: 2 },
  folders_count: { integer: 5 },
  folders_updated: { integer: 2 },
  from: { string: FOLDER },
  id: { string: FOLDER, integer: 42 },
  identifier: { string: FOLDER },
  identifiers: { string: FILE },
  invitation: { string: 'Zt5oYx0gWmN4rQ1sLk8vBa' },
  keys: { integer: 2 },
  location: { string: '/api/v1/uploads/Zt5oYx0gWmN4rQ1sLk8vBa' },
  message: { string: 'Done' },
  moved: { integer: 1 },
  name: { string: 'holiday.jpg' },
  new_password: { string: 'granite lantern under moss' },
  next: { string: `/f/${FOLDER}` },
  oidc: { string: 'Home' },
  openapi: { string: '3.1.0' },
  page: { string: '1', integer: 1 },
  pages: { integer: 1 },
  parent: { string: FOLDER },
  parent_id: { string: FOLDER },
  passkeys: { integer: 1 },
  password: { string: 'sand and sea' },
  path: { string: 'Holidays/2026/holiday.jpg' },
  pending: { string: 'ada@example.com' },
  per_page: { integer: 20 },
  picture_url: { string: `/t/${UUID}` },
  place: { string: FOLDER },
  prefix: { string: 'hf_zG5oYx' },
  prove: { string: '1' },
  quota: { integer: 10_737_418_240 },
  raw: { string: '1' },
  rawId: { string: 'Zt5oYx0gWmN4rQ1sLk8vBa' },
  last_modified: { integer: 1_767_225_600_000 },
  received: { integer: 524_288 },
  receipt: { string: RECEIPT },
  recovery_codes: { string: 'x7Kp2-m9QrT' },
  reports_open: { integer: 3 },
  contents_damaged: { integer: 0 },
  requests: { integer: 4096 },
  restored: { integer: 1 },
  search: { string: 'holiday' },
  secret: { string: 'JBSWY3DPEHPK3PXP' },
  server: { string: 'https://files.example.org' },
  service: { string: 'holdfast' },
  sessions: { integer: 2 },
  sha256: { string: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08' },
  signature: { string: 'MEUCIQDx0gWmN4rQ1sLk8vBaT7uP2dXcE9hJfKq3wMyRs' },
  size: { integer: 1_048_576 },
  slug: { string: FILE },
  state: { string: 'Zt5oYx0gWmN4rQ1sLk8vBa' },
  storage_in_bin: { integer: 1_048_576 },
  storage_in_bins: { integer: 1_048_576 },
  storage_limit: { integer: 10_737_418_240 },
  storage_reserved: { integer: 0 },
  storage_used: { integer: 734_003_200 },
  successful_deletes: { integer: 1 },
  text: { string: 'The picture is mine.' },
  target: { string: UUID },
  thumbnail_url: { string: `/t/${UUID}` },
  thumbnails_waiting: { integer: 0 },
  timestamp: { integer: 1_769_860_800 },
  token: { string: 'Zt5oYx0gWmN4rQ1sLk8vBa' },
  total: { integer: 1 },
  total_files: { integer: 64 },
  total_folders: { integer: 4 },
  total_processed: { integer: 1 },
  total_size: { integer: 734_003_200 },
  type: { string: 'image/jpeg' },
  upload: { string: 'Zt5oYx0gWmN4rQ1sLk8vBa' },
  uploads: { integer: 64 },
  uri: { string: 'otpauth://totp/Holdfast:ada?secret=JBSWY3DPEHPK3PXP' },
  url: { string: `https://files.example.org/d/${FILE}` },
  user_agent: { string: 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0' },
  username: { string: 'ada' },
  display_name: { string: 'Ada Lovelace' },
  uuid: { string: UUID },
  link: { string: 'q7xk2fmw9hbz4tdc' },
  ends_at: { string: '2037-01-31T12:00:00Z' },
  title: { string: 'Holiday pictures' },
  view: { string: '1' },
  views: { integer: 17 },
}

/** 404 codes by "method path"; the first match counts. */
const MISSING: readonly (readonly [RegExp, ErrorCode])[] = [
  [/ \/api\/v1\/receipts?\/| \/r\//, 'NOT_FOUND'],
  [/ \/api\/v1\/(?:links|admin\/take-down)$/, 'FILE_NOT_FOUND'],
  [/ \/(?:api\/v1\/links|l)\//, 'LINK_NOT_FOUND'],
  [/ \/api\/v1\/(?:uploads\/|upload\/cancel$)/, 'UPLOAD_NOT_FOUND'],
  [/ \/api\/v1\/upload\/status$/, 'FILE_NOT_FOUND'],
  [/ \/api\/v1\/(?:files$|files\/move|folder|upload|key$)|^put \/(?:\{name\})?$| \/f\//, 'FOLDER_NOT_FOUND'],
  [/ \/api\/v1\/bin\/restore$| \/v2\/api\/public\/folder$/, 'FOLDER_NOT_FOUND'],
  [/ \/(?:api\/v1\/files?\/|d\/|t\/|v2\/|z\/)/, 'FILE_NOT_FOUND'],
  [/ \/api\/v1\/account(?:$|\/(?:first|password)$)/, 'INVALID_LINK'],
  [/ \/(?:sign-up|welcome|set-password|verify-mail|keep|unsubscribe)\//, 'INVALID_LINK'],
]

export function missingCode(method: string, path: string): ErrorCode {
  const [, code] = MISSING.find(([operation]) => operation.test(`${method} ${path}`)) ?? []
  return code ?? 'NOT_FOUND'
}

/** JSON cannot hold bytes. */
const BYTES = 'The bytes of the file'

const SELF_EXPLANATORY = ['example', 'enum', 'const', 'format'] as const

export function addExamples(document: object): void {
  visit(document, '')
}

function visit(node: unknown, name: string): void {
  if (Array.isArray(node)) {
    for (const each of node) visit(each, name)
    return
  }
  if (!isRecord(node)) return
  if ('schema' in node) {
    visit(node.schema, typeof node.name === 'string' ? node.name : name)
    return
  }
  if ('type' in node && typeof node.type !== 'object') exemplify(node, name, [node.type])
  else if (Array.isArray(node.type)) exemplify(node, name, node.type)
  for (const [key, value] of Object.entries(node)) {
    if (key === 'example') continue
    if ((key === 'properties' || key === 'headers') && isRecord(value)) {
      for (const [field, schema] of Object.entries(value)) visit(schema, field)
    } else visit(value, name)
  }
}

function exemplify(schema: Record<string, unknown>, name: string, types: readonly unknown[]): void {
  if (schema.format === 'binary') {
    schema.example ??= BYTES
    return
  }
  const hasOwn = SELF_EXPLANATORY.some(
    (keyword) => keyword in schema && !(keyword === 'format' && name in EXAMPLES),
  )
  if (hasOwn) return
  const known = EXAMPLES[name]
  const example = types.includes('string')
    ? known?.string
    : types.includes('integer')
      ? known?.integer
      : undefined
  if (example !== undefined) schema.example = example
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
