/** Where resumable uploads are. */
export const UPLOADS_PATH = '/api/v1/uploads'

/** Any path of one segment that no other route has: `curl -T file https://host/` puts the file there. */
export const TOP_UPLOAD_PATH = '/{name}'
