/** Deliveries as they were sent, byte for byte: the bodies in base64, for some are no text. */
export interface Recording {
  readonly name: string;
  readonly about: string;
  readonly bodyBase64: string;
  readonly event: string;
  /** The value of the header `X-Service-Signature`. */
  readonly signature: string;
}

export const recordings: readonly Recording[] = [
  {
    name: "sample-1",
    about: "payment completed, as the service sends it",
    bodyBase64:
      "eyJpZCI6ImExYjJjM2Q0LWU1ZjYtNzg5MC1hYmNkLWVmMTIzNDU2Nzg5MCIsImV2ZW50IjoicGF5bWVudC5jb21wbGV0ZWQiLCJjcmVhdGVkQXQiOiIyMDI2LTAxLTE5VDE0OjMwOjAwWiIsImRhdGEiOnsiY29udHJhY3RJZCI6IkNOVC0yNjAxLTAwMTAwMDY4IiwicmVmZXJlbmNlIjoieW91ci1yZWZlcmVuY2UtMTIzIiwic3RhdHVzIjoiRXNjcm93IiwicHJldmlvdXNTdGF0dXMiOiJBcHByb3ZlZCIsImFtb3VudCI6NjAwLjAwLCJjdXJyZW5jeSI6IlNBUiIsInBheW1lbnRJZCI6IlBBWS0xMjM0NTYiLCJ0cmFuc2FjdGlvbklkIjoiVFhOLTc4OTAxMiIsImludm9pY2VJZCI6IklOVi0zNDU2NzgiLCJ0aW1lc3RhbXAiOiIyMDI2LTAxLTE5VDE0OjMwOjAwWiIsIm1ldGFkYXRhIjp7Im1ldGFkYXRhMSI6InlvdXItY3VzdG9tLWRhdGEtMSIsInJlZmVyZW5jZSI6InlvdXItcmVmZXJlbmNlLTEyMyJ9fX0=",
    event: "payment.completed",
    signature: "sha256=61e3e665d4a6f70ee76490e76ac4e4afc79940e8167356ca7e30e8156f7dfb1a",
  },
  {
    name: "sample-2",
    about: "refund initiated, as the service sends it",
    bodyBase64:
      "eyJpZCI6ImExYjJjM2Q0LWU1ZjYtNzg5MC1hYmNkLWVmMTIzNDU2Nzg5MSIsImV2ZW50IjoicmVmdW5kLmZ1bGwtaW5pdGlhdGVkIiwiY3JlYXRlZEF0IjoiMjAyNi0wNC0xNFQxNDozMDowMFoiLCJkYXRhIjp7ImNvbnRyYWN0SWQiOiJDTlQtMjYwNC0wMDEwMDAwMiIsInN0YXR1cyI6IlJlZnVuZEluUHJvZ3Jlc3MiLCJwcmV2aW91c1N0YXR1cyI6IkVzY3JvdyIsImFtb3VudCI6MTAwMC4wMCwiY3VycmVuY3kiOiJTQVIiLCJ0cmFuc2FjdGlvbklkIjoiNDUyMSIsInRpbWVzdGFtcCI6IjIwMjYtMDQtMTRUMTQ6MzA6MDBaIiwibWV0YWRhdGEiOnsicmVmZXJlbmNlIjoieW91ci1yZWZlcmVuY2UtMTIzIn19fQ==",
    event: "refund.full-initiated",
    signature: "sha256=42392cfbdf963436e9d0d08cfe7879796a24aa269ddd514d42d8fbb26778e6f2",
  },
  {
    name: "sample-3",
    about: "refund succeeded, as the service sends it",
    bodyBase64:
      "eyJpZCI6ImIyYzNkNGU1LWY2YTctODkwMS1iY2RlLWYyMzQ1Njc4OTAxMiIsImV2ZW50IjoicmVmdW5kLmZ1bGwtc3VjY2VlZGVkIiwiY3JlYXRlZEF0IjoiMjAyNi0wNC0xNFQxNTowNTowMFoiLCJkYXRhIjp7ImNvbnRyYWN0SWQiOiJDTlQtMjYwNC0wMDEwMDAwMiIsInN0YXR1cyI6IlJlZnVuZGVkIiwicHJldmlvdXNTdGF0dXMiOiJSZWZ1bmRJblByb2dyZXNzIiwiYW1vdW50IjoxMDAwLjAwLCJjdXJyZW5jeSI6IlNBUiIsInRyYW5zYWN0aW9uSWQiOiI0NTIxIiwidGltZXN0YW1wIjoiMjAyNi0wNC0xNFQxNTowNTowMFoiLCJtZXRhZGF0YSI6eyJyZWZlcmVuY2UiOiJ5b3VyLXJlZmVyZW5jZS0xMjMifX19",
    event: "refund.full-succeeded",
    signature: "sha256=e22c76badeaf2bf9df86f1040248e022bc2386fae260ef1781797069dd26dacf",
  },
  {
    name: "sample-4",
    about: "milestone refund of the earlier edition, as the service sends it",
    bodyBase64:
      "eyJpZCI6ImMzZDRlNWY2LWE3YjgtOTAxMi1jZGVmLTM0NTY3ODkwMTIzNCIsImV2ZW50IjoicmVmdW5kLmZ1bGwtaW5pdGlhdGVkIiwiY3JlYXRlZEF0IjoiMjAyNi0wNC0xNFQxNDozMjowMFoiLCJkYXRhIjp7ImNvbnRyYWN0SWQiOiJDTlQtMjYwNC0wMDEwMDAwMiIsInN0YXR1cyI6IlJlZnVuZEluUHJvZ3Jlc3MiLCJwcmV2aW91c1N0YXR1cyI6IkVzY3JvdyIsImFtb3VudCI6NDAwLjAwLCJjdXJyZW5jeSI6IlNBUiIsInRyYW5zYWN0aW9uSWQiOiI0NTIzIiwidGltZXN0YW1wIjoiMjAyNi0wNC0xNFQxNDozMjowMFoiLCJtZXRhZGF0YSI6eyJtaWxlc3RvbmVJZCI6IjEzIiwicmVmZXJlbmNlIjoieW91ci1yZWZlcmVuY2UtMTIzIn19fQ==",
    event: "refund.full-initiated",
    signature: "sha256=f38bd81e5eccff72f9c4a85c1bc7857949bdd319a05b5fb2da1f806948838e62",
  },
  {
    name: "V1",
    about: "plain event",
    bodyBase64:
      "eyJpZCI6ImUtVjEiLCJldmVudCI6InJlZnVuZC5mdWxsLXN1Y2NlZWRlZCIsImNyZWF0ZWRBdCI6IjIwMjYtMDQtMTRUMTQ6MzA6MDAuMTIzNDU2N1oiLCJkYXRhIjp7ImNvbnRyYWN0SWQiOiJDTlQtVjEiLCJzdGF0dXMiOiJSZWZ1bmRlZCIsInByZXZpb3VzU3RhdHVzIjoiUmVmdW5kSW5Qcm9ncmVzcyIsImN1cnJlbmN5IjoiU0FSIiwidGltZXN0YW1wIjoiMjAyNi0wNC0xNFQxNDozMDowMC4xMjM0NTY3WiIsInRyYW5zYWN0aW9uSWQiOiIxMDEiLCJhbW91bnQiOjI1LjAwfX0=",
    event: "refund.full-succeeded",
    signature: "sha256=50ab5c5cf97ef06995a8a0710302dbb44b56b86106dbcb96d4060cc2b8738578",
  },
  {
    name: "V2",
    about: "numbers that do not survive re-serialisation; final newline",
    bodyBase64:
      "eyJpZCI6ImUtVjIiLCJldmVudCI6InBheW1lbnQuY29tcGxldGVkIiwiY3JlYXRlZEF0IjoiMjAyNi0wNC0xNFQxNDozMDowMC4xMjM0NTY3WiIsImRhdGEiOnsiY29udHJhY3RJZCI6IkNOVC1WMiIsInN0YXR1cyI6IkVzY3JvdyIsInByZXZpb3VzU3RhdHVzIjoiQXBwcm92ZWQiLCJjdXJyZW5jeSI6IlNBUiIsInRpbWVzdGFtcCI6IjIwMjYtMDQtMTRUMTQ6MzA6MDAuMTIzNDU2N1oiLCJhbW91bnQiOjFlMiwidHJhbnNhY3Rpb25JZCI6IlAtMiIsInBheW1lbnRJZCI6IlAtMiIsIm1ldGFkYXRhIjp7ImZlZSI6MTM2LjB9fX0K",
    event: "payment.completed",
    signature: "sha256=d9e0c98f887f35145fa5fa5fdbefe7765dfcd5afb90ce29e665f87c7f0b473ef",
  },
  {
    name: "V3",
    about: "escaped characters",
    bodyBase64:
      "eyJpZCI6ImUtVjMiLCJldmVudCI6ImNvbnRyYWN0LmFwcHJvdmVkIiwiY3JlYXRlZEF0IjoiMjAyNi0wNC0xNFQxNDozMDowMC4xMjM0NTY3WiIsImRhdGEiOnsiY29udHJhY3RJZCI6IkNOVC1WMyIsInN0YXR1cyI6IkFwcHJvdmVkIiwicHJldmlvdXNTdGF0dXMiOiJwZW5kaW5nIiwiY3VycmVuY3kiOiJTQVIiLCJ0aW1lc3RhbXAiOiIyMDI2LTA0LTE0VDE0OjMwOjAwLjEyMzQ1NjdaIiwibWV0YWRhdGEiOnsibWV0YWRhdGExIjoiXHUyMGFjNSBcLyBcdTIwMjggY2FmXHUwMEU5In19fQ==",
    event: "contract.approved",
    signature: "sha256=8120ef65786b8f2f587770b7a173350a11fb202b46f7fa1e8c0035cca0c0fe08",
  },
  {
    name: "V4",
    about: "multi-byte characters",
    bodyBase64:
      "eyJpZCI6ImUtVjQiLCJldmVudCI6ImNvbnRyYWN0LmFwcHJvdmVkIiwiY3JlYXRlZEF0IjoiMjAyNi0wNC0xNFQxNDozMDowMC4xMjM0NTY3WiIsImRhdGEiOnsiY29udHJhY3RJZCI6IkNOVC1WNCIsInN0YXR1cyI6IkFwcHJvdmVkIiwicHJldmlvdXNTdGF0dXMiOiJwZW5kaW5nIiwiY3VycmVuY3kiOiJTQVIiLCJ0aW1lc3RhbXAiOiIyMDI2LTA0LTE0VDE0OjMwOjAwLjEyMzQ1NjdaIiwibWV0YWRhdGEiOnsibWV0YWRhdGExIjoi2K/Zgdi52Kkg8J+OiSDml6XmnKwifX19",
    event: "contract.approved",
    signature: "sha256=9fb4aca4040f5c0637674bf12e589dcd49bfdea03709f14bec73805c42a21477",
  },
  {
    name: "V5",
    about: "one byte that is not UTF-8",
    bodyBase64:
      "eyJpZCI6ImUtVjUiLCJldmVudCI6ImNvbnRyYWN0LmRpc3B1dGVkIiwiY3JlYXRlZEF0IjoiMjAyNi0wNC0xNFQxNDozMDowMC4xMjM0NTY3WiIsImRhdGEiOnsiY29udHJhY3RJZCI6IkNOVC1WNSIsInN0YXR1cyI6IkRpc3B1dGUiLCJwcmV2aW91c1N0YXR1cyI6IkVzY3JvdyIsImN1cnJlbmN5IjoiU0FSIiwidGltZXN0YW1wIjoiMjAyNi0wNC0xNFQxNDozMDowMC4xMjM0NTY3WiIsIm1ldGFkYXRhIjp7Im1ldGFkYXRhMSI6Iv8ifX19",
    event: "contract.disputed",
    signature: "sha256=6bc252e545313c9c81efdf5851282629b2e25cdd06e8d0aa8195914c0155b930",
  },
  {
    name: "V7",
    about: "duplicate key",
    bodyBase64:
      "eyJpZCI6ImUtVjciLCJldmVudCI6InJlZnVuZC5mdWxsLWluaXRpYXRlZCIsImNyZWF0ZWRBdCI6IjIwMjYtMDQtMTRUMTQ6MzA6MDAuMTIzNDU2N1oiLCJkYXRhIjp7ImNvbnRyYWN0SWQiOiJDTlQtVjciLCJzdGF0dXMiOiJSZWZ1bmRJblByb2dyZXNzIiwicHJldmlvdXNTdGF0dXMiOiJFc2Nyb3ciLCJjdXJyZW5jeSI6IlNBUiIsInRpbWVzdGFtcCI6IjIwMjYtMDQtMTRUMTQ6MzA6MDAuMTIzNDU2N1oiLCJ0cmFuc2FjdGlvbklkIjoiMjAxIiwidHJhbnNhY3Rpb25JZCI6IjIwMiJ9fQ==",
    event: "refund.full-initiated",
    signature: "sha256=9bf0f0c87ade4ee6a2f9b23c6bdd2d4e6b7ebb5e5923b5c3a4b00fc195678a78",
  },
  {
    name: "V11",
    about: "empty body",
    bodyBase64: "",
    event: "",
    signature: "sha256=86aee901194fbc4d1371ec10e1c7c5ea4e69fc1a69b971ec3d19f4c413b22f8e",
  },
];
