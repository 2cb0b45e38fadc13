FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=dev
RUN CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X main.version=$VERSION" -o /ttftap ./cmd/ttftap \
 && mkdir -m 0700 /empty

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build /ttftap /ttftap
COPY --from=build --chown=65532:65532 /empty /data
USER 65532:65532
VOLUME /data
ENV TTFTAP_DB=/data/ttftap.db TTFTAP_LISTEN=0.0.0.0:8838
EXPOSE 8838
HEALTHCHECK --interval=30s --timeout=5s --start-period=5s CMD ["/ttftap", "version", "--health", "http://127.0.0.1:8838"]
ENTRYPOINT ["/ttftap"]
CMD ["serve"]
