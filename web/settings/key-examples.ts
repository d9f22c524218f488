import type { NewApiKey } from '../../src/contract/keys.ts'

type Key = Pick<NewApiKey, 'api_key' | 'scopes'>

/** What the key is good for in one command. */
export function curlExample(publicUrl: string, { api_key: key, scopes }: Key): string {
  const authorization = `-H "Authorization: Bearer ${key}"`
  if (scopes.includes('upload'))
    return `curl ${authorization} -F "file=@picture.jpg" ${publicUrl}/api/v1/upload`
  const list = scopes.includes('read') ? 'files' : 'keys'
  return `curl ${authorization} ${publicUrl}/api/v1/${list}`
}

/** For the command-line client. */
export function programExample(publicUrl: string, { api_key: key, scopes }: Key): string {
  const command = scopes.includes('upload')
    ? 'holdfast upload picture.jpg'
    : scopes.includes('read')
      ? 'holdfast ls'
      : 'holdfast info'
  return [`echo "${key}" | holdfast login --key-stdin ${publicUrl}`, command].join('\n')
}

/** A configuration that ShareX opens; see `docs/guide/sharex.md`. */
export function sharexFile(publicUrl: string, { api_key: key }: Key): string {
  const configuration = {
    Version: '16.1.0',
    Name: 'Holdfast',
    DestinationType: 'ImageUploader, TextUploader, FileUploader',
    RequestMethod: 'POST',
    RequestURL: `${publicUrl}/api/v1/upload`,
    Headers: { Authorization: `Bearer ${key}` },
    Body: 'MultipartFormData',
    FileFormName: 'file',
    URL: '{json:url}',
    ThumbnailURL: `${publicUrl}{json:thumbnail_url}`,
    ErrorMessage: '{json:message}',
  }
  return `${JSON.stringify(configuration, null, 2)}\n`
}
