import type { FileId } from '../domain/ids.ts'
import type { EndReason, EventFile } from '../domain/link-event.ts'
import type { EventColumns } from './link-events.rows.ts'

export function eventFields({ file_id, file_name, bytes, times, reason, address }: EventColumns): {
  readonly file: EventFile<FileId> | null
  readonly bytes: number | null
  readonly times: number
  readonly reason: EndReason | null
  readonly address: string | null
} {
  return { file: file_name === null ? null : { id: file_id, name: file_name }, bytes, times, reason, address }
}
