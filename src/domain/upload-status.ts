/** `processing`: complete but not stored yet. */
export const UPLOAD_STATUSES = ['uploading', 'processing', 'completed', 'failed'] as const
export type UploadStatus = (typeof UPLOAD_STATUSES)[number]
