export const ACCOUNT_SORTS = ['created_at', 'username', 'storage_used', 'files_count'] as const
export const ACCOUNT_STATES = ['all', 'active', 'disabled', 'administrators'] as const
export const ALL_FILES_SORTS = ['created_at', 'size'] as const
export const DAMAGED_FILE_STATES = ['damaged', 'repaired'] as const

/** In days; 0 is for ever. */
export const MOST_INACTIVE_DAYS = 36_500

export type AccountSort = (typeof ACCOUNT_SORTS)[number]
export type AccountState = (typeof ACCOUNT_STATES)[number]
export type AllFilesSort = (typeof ALL_FILES_SORTS)[number]
export type DamagedFileState = (typeof DAMAGED_FILE_STATES)[number]
