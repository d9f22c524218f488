import { type Command, InvalidArgumentError } from 'commander'
import type { WantedUploads } from '../../client/api.ts'
import { ClientError } from '../../client/failure.ts'
import { parseRemoteName, RemoteTree } from '../../client/remote-tree.ts'
import type { Environment } from '../../config/environment.ts'
import { parseSize } from '../../domain/sizes.ts'
import {
  ASKED_FIELDS,
  type AskedField,
  type AskedFields,
  parseAcceptedType,
} from '../../domain/upload-terms.ts'
import { readCount } from '../options.ts'
import { asClient, openApi } from '../session.ts'
import { printLink, readTerms, type TermOptions, termOptions } from './share.ts'

export interface UploadTermOptions extends TermOptions {
  readonly maxFiles?: number
  readonly maxSize?: number
  readonly maxFileSize?: number
  readonly types?: readonly string[]
  readonly ask?: readonly AskedField[]
  readonly require?: readonly AskedField[]
}

export function requestCommand(request: Command, environment: Environment): void {
  uploadTermOptions(
    request
      .description('make a link by which others put files into a folder, of which they see nothing')
      .argument('<folder>', 'a folder identifier or path'),
  ).action((folder: string, options: UploadTermOptions) => asClient(() => run(environment, folder, options)))
}

export function uploadTermOptions(command: Command): Command {
  return termOptions(
    command
      .option('--max-files <number>', 'how many files it takes', readCount)
      .option('--max-size <size>', 'how much it takes altogether, such as 2GB', readSize)
      .option('--max-file-size <size>', 'how large each file may be', readSize)
      .option('--types <list>', 'what it takes, such as .pdf,image/*', readTypes)
      .option('--ask <fields>', `what contributors may say: ${ASKED_FIELDS.join(', ')}`, readFields)
      .option('--require <fields>', 'what they must say', readFields),
  )
}

async function run(environment: Environment, word: string, options: UploadTermOptions): Promise<void> {
  const api = await openApi(environment, options)
  const thing = await new RemoteTree(api).find(parseRemoteName(word))
  if (thing.kind !== 'folder')
    throw new ClientError(`"${word}" is no folder that others could put files into.`)
  const wanted = { files: [], folders: [thing.folder.id], ...readTerms(options), uploads: uploadsOf(options) }
  printLink(await api.makeLink(wanted), options)
}

export function uploadsOf({
  maxFiles,
  maxSize,
  maxFileSize,
  types,
  ask = [],
  require = [],
}: UploadTermOptions): WantedUploads {
  const fields: AskedFields = Object.fromEntries([
    ...ask.map((field) => [field, 'optional'] as const),
    ...require.map((field) => [field, 'required'] as const),
  ])
  return {
    fields,
    ...(maxFiles === undefined ? {} : { max_files: maxFiles }),
    ...(maxSize === undefined ? {} : { max_size: maxSize }),
    ...(maxFileSize === undefined ? {} : { max_file_size: maxFileSize }),
    ...(types === undefined ? {} : { types }),
  }
}

function readSize(text: string): number {
  const size = parseSize(text)
  if (size !== null && size > 0) return size
  throw new InvalidArgumentError('Allowed is a size such as 20MB.')
}

function readTypes(text: string): readonly string[] {
  return text.split(',').map((word) => {
    const type = parseAcceptedType(word)
    if (type !== null) return type
    throw new InvalidArgumentError(
      'Allowed are extensions such as .pdf and types such as image/*, with commas.',
    )
  })
}

function readFields(text: string): readonly AskedField[] {
  const words = text.split(',').map((word) => word.trim())
  const fields = ASKED_FIELDS.filter((field) => words.includes(field))
  if (words.every((word) => fields.some((field) => field === word))) return fields
  throw new InvalidArgumentError(`Allowed are ${ASKED_FIELDS.join(', ')}, with commas between them.`)
}
