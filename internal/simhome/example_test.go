package simhome_test

import (
	"context"
	"fmt"
	"net/http"

	"hearth/internal/simhome"
)

// A house on an in-memory listener, and one change to it.
func Example() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	h := simhome.New(simhome.Options{Seed: 1})
	l, dial := simhome.Pipe()
	done := make(chan error)
	go func() { done <- h.Serve(ctx, l) }() // ends with ctx

	tr := &http.Transport{DialContext: dial, DisableKeepAlives: true}
	resp, err := (&http.Client{Transport: tr}).Get("http://house:8123/api/")
	if err != nil {
		fmt.Println(err)
		return
	}
	resp.Body.Close()
	h.Set("light.nochnik", "on", nil)
	fmt.Println(resp.StatusCode, h.Value("light.nochnik"))
	cancel()
	fmt.Println(<-done)
	// Output:
	// 401 on
	// <nil>
}
