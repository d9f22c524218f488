/** The settings of one Holdfast, all of them, typed and free of contradictions. Sizes are bytes, rates are per hour. */
export interface Config {
  readonly host: string
  /** 0 lets the system pick one. */
  readonly port: number
  readonly dataDir: string
  /** The address people use, without a trailing slash; null means the address the server listens at. */
  readonly publicUrl: string | null
  /** Where content is served from, without a trailing slash; null means the public address. */
  readonly contentUrl: string | null
  /** null means SQLite in the data folder. */
  readonly databaseUrl: string | null
  /** Addresses and CIDR ranges whose forwarded headers count. */
  readonly trustedProxies: readonly string[]
  readonly maxFileSize: number
  readonly storageLimit: number
  readonly rateLimit: number
  readonly guestUploads: boolean
  readonly guestRateLimit: number
  /** Bytes a guest's address may send in an hour. */
  readonly guestHourlySize: number
  readonly guestStorage: number
  readonly minFreeSpace: number
  readonly inactiveDays: number
  readonly maxFolderDepth: number
  readonly logLevel: LogLevel
}

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent'
